# docker build -t aqmlab . && docker run --rm -v "$PWD/results:/work/results" aqmlab study tuning-red --quick
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends git make gcc libc6-dev python3 python3-venv && rm -rf /var/lib/apt/lists/*
COPY . /source
WORKDIR /source
RUN make dist

FROM python:3.13-slim-bookworm
COPY --from=build /source/dist/*.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl
WORKDIR /work
ENTRYPOINT ["aqmlab"]
CMD ["--help"]
