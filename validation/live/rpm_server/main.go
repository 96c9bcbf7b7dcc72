// A server for tests of responsiveness, by the specification of network-quality/server: HTTP/2 over TLS, a
// configuration, an object of one byte, one without end, and a place that takes uploads. What waits to be sent is
// kept as small as revision 9 of the draft wants it: some packets.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

const unsentQuery = 0x894B // SIOCOUTQNSD, linux/sockios.h

// A connection whose writes wait while `most` bytes or more wait to be sent. TCP_NOTSENT_LOWAT does not do: the
// kernel looks at it only where a segment of up to 64 KiB begins.
type held struct {
	net.Conn
	raw  syscall.RawConn
	most int
}

func (c held) unsent() (waiting int32) {
	c.raw.Control(func(fd uintptr) {
		syscall.Syscall(syscall.SYS_IOCTL, fd, unsentQuery, uintptr(unsafe.Pointer(&waiting)))
	})
	return
}

func (c held) Write(b []byte) (int, error) {
	for c.unsent() >= int32(c.most) {
		time.Sleep(500 * time.Microsecond)
	}
	return c.Conn.Write(b)
}

type holding struct {
	net.Listener
	most int
}

func (l holding) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	raw, err := conn.(*net.TCPConn).SyscallConn()
	return held{conn, raw, l.most}, err
}

func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	day := 24 * time.Hour
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rpm_server"},
		NotBefore: time.Now().Add(-day), NotAfter: time.Now().Add(365 * day),
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func pages(base string, frame int) *http.ServeMux {
	chunk := make([]byte, frame)
	mux := http.NewServeMux()
	mux.HandleFunc("/config", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"version": 1, "urls": {"small_https_download_url": "%[1]s/small", `+
			`"large_https_download_url": "%[1]s/large", "https_upload_url": "%[1]s/upload"}}`, base)
	})
	mux.HandleFunc("/small", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("x")) })
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("/upload", func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	return mux
}

// Arguments: ADDRESS:PORT, the payload of a frame, how much may wait to be sent (bytes).
func main() {
	frame, err := strconv.Atoi(os.Args[2])
	unsent, err2 := strconv.Atoi(os.Args[3])
	if err != nil || err2 != nil {
		log.Fatal("usage: rpm_server ADDRESS:PORT FRAME UNSENT (bytes)")
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	cert, err := certificate()
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Handler:   pages("https://"+os.Args[1], frame),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}},
	}
	log.Fatal(server.ServeTLS(holding{listener, unsent}, "", ""))
}
