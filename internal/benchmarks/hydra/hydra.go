// Package hydra compares with Ory Hydra, a server of its own, on the same PostgreSQL.
package hydra

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
)

// Client is the one that the server knows.
type Client struct{ ID, Secret, RedirectURI string }

// Server is a Hydra with one confidential client.
type Server struct {
	client        Client
	public, admin string
	process       *exec.Cmd
	drop          func() error
}

// Start runs the program on a database of its own beside the one of the URL.
func Start(program, postgres string, client Client) (*Server, error) {
	s := &Server{client: client, drop: func() error { return nil }}
	if err := s.start(program, postgres); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) start(program, postgres string) error {
	dsn, err := s.createDatabase(postgres)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	public, admin, err := freePorts()
	if err != nil {
		return err
	}
	s.public, s.admin = "http://127.0.0.1:"+public, "http://127.0.0.1:"+admin
	config := filepath.Join(dir, "hydra.yml")
	text := fmt.Sprintf(`log: {level: fatal}
serve: {public: {port: %s, host: 127.0.0.1}, admin: {port: %s, host: 127.0.0.1}}
urls: {self: {issuer: "%s"}, login: "%s/none", consent: "%s/none"}
secrets: {system: [a-secret-of-a-benchmark]}
sqa: {opt_out: true}
`, public, admin, s.public, s.public, s.public)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	environment := append(os.Environ(), "DSN="+dsn)
	migrate := exec.Command(program, "migrate", "sql", "-e", "--yes")
	migrate.Env = environment
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate: %w: %s", err, out)
	}
	s.process = exec.Command(program, "serve", "all", "--dev", "-c", config)
	s.process.Env = environment
	if err := s.process.Start(); err != nil {
		return err
	}
	return s.addClient()
}

func (s *Server) createDatabase(postgres string) (dsn string, err error) {
	u, err := url.Parse(postgres)
	if err != nil {
		return "", errors.New("the URL of PostgreSQL is malformed")
	}
	db, err := sql.Open("pgx", postgres)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("partnerkit_bench_hydra_%d", os.Getpid())
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		return "", errors.Join(err, db.Close())
	}
	s.drop = func() error {
		_, err := db.Exec("DROP DATABASE " + name + " WITH (FORCE)")
		return errors.Join(err, db.Close())
	}
	u.Path = "/" + name
	query := u.Query()
	query.Set("max_conns", "20")
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// Stop ends the server and drops its database.
func (s *Server) Stop() error {
	if s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
	}
	return s.drop()
}

func freePorts() (public, admin string, err error) {
	var ports [2]string
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer l.Close()
		_, ports[i], _ = net.SplitHostPort(l.Addr().String())
	}
	return ports[0], ports[1], nil
}

// addClient waits until the server responds.
func (s *Server) addClient() error {
	body := map[string]any{
		"client_id": s.client.ID, "client_secret": s.client.Secret, "redirect_uris": []string{s.client.RedirectURI}, "scope": "offline invoices",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	}
	var made struct{}
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := s.call(http.MethodPost, "/admin/clients", body, &made)
		if err == nil || time.Since(begun) > 30*time.Second {
			return err
		}
	}
}

// call asks the host that is for administrators.
func (s *Server) call(method, path string, body, into any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, s.admin+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		return fmt.Errorf("%s: %d %s: %w", path, response.StatusCode, read, err)
	}
	return json.Unmarshal(read, into)
}

// TokenURL returns where tokens are asked for.
func (s *Server) TokenURL() string { return s.public + "/oauth2/token" }

// Code returns an authorization code, after a login and a consent.
func (s *Server) Code(challenge string) (string, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	visit := func(address string) (*url.URL, error) {
		response, err := browser.Get(address)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		return url.Parse(response.Header.Get("Location"))
	}
	at, err := visit(s.public + "/oauth2/auth?" + url.Values{
		"client_id": {s.client.ID}, "redirect_uri": {s.client.RedirectURI}, "response_type": {"code"}, "scope": {"offline invoices"},
		"state": {"some-state-of-the-app"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}.Encode())
	if err != nil {
		return "", err
	}
	for _, step := range []struct {
		name   string
		accept map[string]any
	}{
		{"login", map[string]any{"subject": "usr_1"}},
		{"consent", map[string]any{"grant_scope": []string{"offline", "invoices"}}},
	} {
		var next struct {
			To string `json:"redirect_to"`
		}
		path := "/admin/oauth2/auth/requests/" + step.name + "/accept?" + step.name + "_challenge=" + url.QueryEscape(at.Query().Get(step.name+"_challenge"))
		if err := s.call(http.MethodPut, path, step.accept, &next); err != nil {
			return "", err
		}
		if at, err = visit(next.To); err != nil {
			return "", err
		}
	}
	if code := at.Query().Get("code"); code != "" {
		return code, nil
	}
	return "", fmt.Errorf("no code in %s", at)
}
