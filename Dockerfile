# One static binary, not root, nothing else in the image. It needs one writable
# place, /data, where job directories and feeds go:
#
#   docker build -t crawl .
#   docker run --rm --read-only -v "$PWD/data:/data" crawl SPIDER -s JOBDIR=job -o items.jsonl
#
# The folder on the host has to be writable for user 65532. `docker stop` gives
# ten seconds, SHUTDOWN_GRACE takes eight of them: the crawl ends in good order.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
        -ldflags "-s -w -X github.com/skeincrawl/skein/cmd.version=${VERSION}" -o /crawl ./cmd/crawl \
    && mkdir /data && chown 65532:65532 /data

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
