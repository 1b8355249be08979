// Light or dark: as the system has it until the user chooses.
const theme = {
  button: document.getElementById("theme"),
  system: matchMedia("(prefers-color-scheme: dark)"),
  listeners: [],
  choices: ["auto", "light", "dark"],
  choice: "auto",
  colours: {},

  apply() {
    const dark = this.choice === "auto" ? this.system.matches : this.choice === "dark";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.button.textContent = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" }[this.choice];
    const style = getComputedStyle(document.documentElement);
    for (const name of ["page", "surface", "sunken", "line", "text", "faint", "accent", "accent-soft", "mark", "warn", "on-slice", "on-pale",
      "h2d", "d2h", "d2d", "h2h", "fill", "call", "wait", "other", "failed", "dropped", "unfinished"]) {
      this.colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
    for (const listener of this.listeners) listener();
  },

  start() {
    try {
      const kept = localStorage.getItem("sampan-theme");
      if (this.choices.includes(kept)) this.choice = kept;
    } catch { /* pages from files may have no storage */ }
    this.system.addEventListener("change", () => this.apply());
    this.button.addEventListener("click", () => {
      this.choice = this.choices[(this.choices.indexOf(this.choice) + 1) % this.choices.length];
      try {
        localStorage.setItem("sampan-theme", this.choice);
      } catch { /* then it holds for this page only */ }
      this.apply();
    });
    this.apply();
  },
};
