// Command mcp opens the books of examples/books to AI agents. It is one program: partnerkit
// with its two hosts, the API of the books, and an MCP endpoint at /mcp on the API host
// whose tools are calls of that API. Everything is in memory and gone when it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcp:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	api := flag.String("api", "localhost:8080", "`address` of the API host, on loopback")
	app := flag.String("app", "localhost:8081", "`address` of the app host, on loopback")
	flag.Parse()
	apiSocket, err := listen(ctx, *api)
	if err != nil {
		return err
	}
	appSocket, err := listen(ctx, *app)
	if err != nil {
		return err
	}
	trusted, err := oauthserver.TrustDocuments("claude.ai", "chatgpt.com", "vscode.dev")
	if err != nil {
		return err
	}
	s, err := open(ctx, settings{
		Documents: oauthserver.DocumentConfig{Policy: trusted},
		APIURL:    "http://" + *api, AppURL: "http://" + *app,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "The MCP endpoint is http://%s/mcp. Sign in as ada@example.com with demo-ada.\n", *api)
	return errors.Join(s.serve(ctx, apiSocket, appSocket), s.close())
}

// listen listens on loopback alone: registration is open and the passwords are known.
func listen(ctx context.Context, address string) (net.Listener, error) {
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if host, ok := socket.Addr().(*net.TCPAddr); !ok || !host.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("%s is not on loopback", address), socket.Close())
	}
	return socket, nil
}

// serve serves both hosts until ctx ends. It stops in order: requests, then the loops.
func (s *service) serve(ctx context.Context, api, app net.Listener) error {
	servers := []*http.Server{
		{Handler: s.platform.API(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second},
		{Handler: s.platform.App(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second},
	}
	failed := make(chan error, len(servers))
	for i, socket := range []net.Listener{api, app} {
		go func() { failed <- servers[i].Serve(socket) }()
	}
	loops, stopLoops := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLoops()
	ran := make(chan error, 1)
	go func() { ran <- s.platform.Run(loops) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	err = errors.Join(err, servers[0].Shutdown(loops), servers[1].Shutdown(loops))
	stopLoops()
	return errors.Join(err, <-ran)
}
