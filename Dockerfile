# Sampan with a compiler, CMake and pytest: docker build -t sampan . docs/CI.md says how to use the image.
FROM debian:12 AS build
WORKDIR /sampan
COPY scripts/install_deps.sh scripts/
RUN scripts/install_deps.sh build && rm -rf /var/lib/apt/lists/*
COPY . .
RUN make install PREFIX=/opt/sampan

FROM debian:12
RUN apt-get update -qq && \
    apt-get install -y -qq --no-install-recommends g++ cmake make git python3-pytest python3-numpy zlib1g libdw1 && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/sampan /opt/sampan
ENV ASCEND_HOME_PATH=/opt/sampan ASCEND_TOOLKIT_HOME=/opt/sampan ASCEND_AICPU_PATH=/opt/sampan \
    ASCEND_OPP_PATH=/opt/sampan/opp TOOLCHAIN_HOME=/opt/sampan/toolkit \
    PATH=/opt/sampan/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LD_LIBRARY_PATH=/opt/sampan/lib64 PYTHONPATH=/opt/sampan/python/site-packages \
    CMAKE_PREFIX_PATH=/opt/sampan/lib64/cmake PKG_CONFIG_PATH=/opt/sampan/lib64/pkgconfig
CMD ["sampan", "info"]
