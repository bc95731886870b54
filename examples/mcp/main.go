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
	for _, address := range []string{*api, *app} {
		if err := checkLoopback(address); err != nil {
			return err
		}
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
	err = s.platform.Serve(ctx, &http.Server{Addr: *api, Handler: s.platform.API()}, &http.Server{Addr: *app, Handler: s.platform.App()})
	return errors.Join(err, s.close())
}

// checkLoopback rejects an address that other machines reach: registration is open and the
// passwords are known.
func checkLoopback(address string) error {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err == nil && !at.IP.IsLoopback() {
		err = fmt.Errorf("%s is not on loopback", address)
	}
	return err
}
