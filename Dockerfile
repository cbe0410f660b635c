# dse in a container: docker build -t dse . && docker run --rm -v "$PWD:/work" dse explore x.xdf
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN pip install .
WORKDIR /work
RUN python -m dse.estimate.compiled.warm
RUN python -m dse.gpu.trace.warm
RUN python -m dse.native.warm
ENTRYPOINT ["dse"]
CMD ["--help"]
