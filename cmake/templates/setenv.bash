# Environment of a shell that uses this installation: source it from bash.
. "$(dirname "${BASH_SOURCE[0]}")/../set_env.sh"
