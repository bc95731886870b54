package nodes_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

var variable = regexp.MustCompile(`PARTNERKIT_[A-Z_]+`)

// Every variable of both files is one of the server, both have the same, and the manifests are
// YAML.
func TestVariables(t *testing.T) {
	program, err := servertest.Program()
	if err != nil {
		t.Fatal(err)
	}
	help, _ := exec.CommandContext(t.Context(), program, "-help").CombinedOutput()
	var sets [][]string
	for _, file := range []string{"partnerkit.env", "kubernetes.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := variable.FindAllString(string(text), -1)
		slices.Sort(names)
		sets = append(sets, slices.Compact(names))
		for _, name := range names {
			flag := "-" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "PARTNERKIT_"), "_", "-"))
			if !regexp.MustCompile(`(?m)^\s+` + flag + `\b`).Match(help) {
				t.Errorf("%s: the server has no flag %s", file, flag)
			}
		}
	}
	if !slices.Equal(sets[0], sets[1]) {
		t.Errorf("systemd has %q and Kubernetes %q", sets[0], sets[1])
	}
	text, err := os.ReadFile("kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var one struct{ Kind string }
		if err := documents.Decode(&one); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, one.Kind)
	}
	if want := []string{"Deployment", "PodDisruptionBudget", "Service", "Ingress"}; !slices.Equal(kinds, want) {
		t.Errorf("the manifests are %q, want %q", kinds, want)
	}
}

// Two nodes with these settings are ready, and end with 0 after SIGTERM.
func TestNodes(t *testing.T) {
	program, err := servertest.Program()
	if err != nil {
		t.Fatal(err)
	}
	database := testenv.PostgresURL(t)
	redis := testenv.Redis(t)
	text, err := os.ReadFile("partnerkit.env")
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(name, "#") {
			settings[name] = value
		}
	}
	settings["PARTNERKIT_DB"], settings["PARTNERKIT_DB_DIRECT"], settings["PARTNERKIT_REDIS"] = database, database, redis
	for range 2 {
		api := freeAddress(t)
		settings["PARTNERKIT_API"], settings["PARTNERKIT_APP"], settings["PARTNERKIT_METRICS"] = api, freeAddress(t), freeAddress(t)
		node := exec.CommandContext(context.Background(), program) // which the cleanup ends
		node.Env = os.Environ()
		for name, value := range settings {
			node.Env = append(node.Env, name+"="+value)
		}
		var log bytes.Buffer
		node.Stderr = &log
		stdout, err := node.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = node.Process.Signal(syscall.SIGTERM)
			if err := node.Wait(); err != nil {
				t.Errorf("the node: %v\n%s", err, &log)
			}
		})
		if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil { // its ready line
			t.Fatalf("%q, %v\n%s", line, err, &log)
		}
		res, err := http.Get("http://" + api + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("/readyz: %s", res.Status)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	return socket.Addr().String()
}
