# One static binary, not root, nothing else in the image. It writes to one place
# only, /data, where job directories and feeds go:
#
#   docker build -t crawl .
#   docker run --rm --read-only -v crawl:/data crawl site -a start=https://example.com/ -s JOBDIR=job -o pages.jsonl
#
# A volume takes over the owner of /data. A folder of the host in its place has to
# be writable for user 65532. `docker stop` gives ten seconds, SHUTDOWN_GRACE takes
# eight of them: the crawl ends in good order, and the same command goes on.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
ARG TARGETOS
ARG TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
        -ldflags "-s -w -X github.com/skeincrawl/skein/cmd.version=${VERSION}" -o /crawl ./cmd/crawl \
    && mkdir /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /usr/local/go/lib/time/zoneinfo.zip /usr/local/go/lib/time/zoneinfo.zip
COPY --from=build --chown=65532:65532 /data /data
COPY --from=build /crawl /crawl
ENV ZONEINFO=/usr/local/go/lib/time/zoneinfo.zip
USER 65532:65532
VOLUME /data
WORKDIR /data
ENTRYPOINT ["/crawl"]
