# The explorer in a container.
#
#   docker build --tag allstreets .
#   docker run --rm --network host --volume allstreets:/data allstreets
#
# The explorer answers its own machine only, so it shares the network of the host (Docker Desktop asks
# for that in its settings); the address that it prints opens there. Solutions and compiled kernels stay
# in the volume.
FROM node:22-slim AS page
WORKDIR /source/allstreets/explorer/web
COPY allstreets/explorer/web/package.json allstreets/explorer/web/package-lock.json ./
RUN npm ci --no-audit --no-fund --ignore-scripts
COPY allstreets/explorer/web ./
RUN npm run build

FROM python:3.12-slim
COPY requirements.lock /source/
RUN pip install --no-cache-dir --requirement /source/requirements.lock
COPY pyproject.toml LICENSE /source/
COPY docs/howto/install.md /source/docs/howto/
COPY allstreets /source/allstreets
COPY --from=page /source/allstreets/explorer/page /source/allstreets/explorer/page
RUN pip install --no-cache-dir --no-deps --no-build-isolation /source && rm -r /source \
    && useradd --create-home player && mkdir /data && chown player /data
USER player
WORKDIR /data
ENV XDG_DATA_HOME=/data XDG_CACHE_HOME=/data/cache
ENTRYPOINT ["allstreets"]
CMD ["explore", "--no-browser"]
