package servertest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// ReadMetrics returns the Prometheus metrics of the server.
func (p *Process) ReadMetrics(client *http.Client) (string, error) {
	r, err := NewRequest(context.Background(), http.MethodGet, p.Metrics, "")
	if err != nil {
		return "", err
	}
	got, err := Send(client, r)
	if err == nil && got.Status != http.StatusOK {
		err = fmt.Errorf("metrics: %v", got)
	}
	return got.Body, err
}

// Usage is the resources of a server.
type Usage struct {
	RSS, Heap               int64 // bytes
	Goroutines, Descriptors int64
}

func (u Usage) String() string {
	return fmt.Sprintf("RSS %d MiB, heap %d MiB, %d goroutines, %d descriptors", u.RSS>>20, u.Heap>>20, u.Goroutines, u.Descriptors)
}

// Usage reads the metrics of the server.
func (p *Process) Usage(client *http.Client) (u Usage, err error) {
	text, err := p.ReadMetrics(client)
	if err != nil {
		return u, err
	}
	missing := map[string]*int64{
		"process_resident_memory_bytes": &u.RSS, "go_memstats_heap_inuse_bytes": &u.Heap, "go_goroutines": &u.Goroutines, "process_open_fds": &u.Descriptors,
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if into := missing[name]; into != nil {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return u, err
			}
			*into = int64(n)
			delete(missing, name)
		}
	}
	if len(missing) > 0 {
		return u, fmt.Errorf("the metrics lack %v", missing)
	}
	return u, nil
}
