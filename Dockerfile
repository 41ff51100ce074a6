# The command line and `bayescal app`, on a processor, as a user without rights.
#   docker build -t bayescal .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" bayescal assess predictions.csv --outcome died --prob risk
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY bayescal bayescal
RUN python -m venv /opt/bayescal \
    && /opt/bayescal/bin/python -m pip install --no-cache-dir ".[all]"

FROM python:3.13-slim
RUN useradd --create-home --uid 1000 person && chmod 1777 /home/person \
    && mkdir /data && chown person /data
COPY --from=build /opt/bayescal /opt/bayescal
ENV PATH=/opt/bayescal/bin:$PATH \
    HOME=/home/person \
    MPLBACKEND=Agg \
    OMP_NUM_THREADS=1 \
    PYTHONUNBUFFERED=1
USER person
WORKDIR /data
ENTRYPOINT ["bayescal"]
CMD ["--help"]
