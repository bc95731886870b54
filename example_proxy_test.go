package partnerkit_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// throughProxy is a Config.Dial for an HTTP proxy that knows CONNECT.
func throughProxy(proxy string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, proxy)
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		defer stop()
		_, err = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		// The server at the other end sends nothing before the client does, so the
		// reader holds no byte of it.
		res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		if res.StatusCode != http.StatusOK {
			return nil, errors.Join(fmt.Errorf("proxy: %s", res.Status), conn.Close())
		}
		return conn, nil
	}
}
