// Package nodes has the files of two nodes behind a proxy: a unit of systemd with its settings,
// and manifests for Kubernetes. Its test starts two nodes with these settings.
package nodes
