# docker build -t aqmlab . && docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" aqmlab study tuning-red --quick
# Base images are pinned by digest: Rust 1.98.0 and Python 3.13.15 on Debian bookworm.
FROM rust:1-slim-bookworm@sha256:1469a27c125cb5a3aebfa4f4e4665d935b02fb72cc093b2c974b3d740e43f157 AS build
RUN apt-get update && apt-get install -y --no-install-recommends git make gcc libc6-dev python3 python3-venv && rm -rf /var/lib/apt/lists/*
COPY . /source
WORKDIR /source
RUN make dist

FROM python:3.13-slim-bookworm@sha256:2325bb286ec344af3e5898cc224b5844e2707ac6e26b1632516fd3edc84a5e26
COPY --from=build /source/dist/*.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl && useradd --create-home --uid 1000 aqmlab && install -d -o aqmlab -g aqmlab /work
# Results are written below /work; --user lets them belong to the caller.
ENV MPLCONFIGDIR=/tmp/matplotlib
USER aqmlab
WORKDIR /work
ENTRYPOINT ["aqmlab"]
CMD ["--help"]
