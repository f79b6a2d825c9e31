package steps

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestValuesOfSecretsAreNotInTheLogOfHelm: it logs the error of each attempt.
func TestValuesOfSecretsAreNotInTheLogOfHelm(t *testing.T) {
	var log bytes.Buffer
	r := runOf("1")
	handler := slog.New(r.helmLog(slog.NewJSONHandler(&log, nil)))
	r.secret = []string{"hunter2"} // once it is read
	refused := errors.New(`spec.pin: Invalid value: "hunter2" (aHVudGVyMg==)`)
	handler.Warn("upgrade failed: "+refused.Error(), //nolint:sloglint // Helm logs like this
		slog.String("name", "queue"), slog.Any("error", refused), slog.Any("values", []string{"hunter2"}),
		slog.Group("object", slog.String("pin", "hunter2")), slog.Int("count", 3))
	handler.With("error", refused).WithGroup("object").Warn("rollback failed", "pin", "hunter2")
	for _, secret := range []string{"hunter2", "aHVud"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, log.String())
		}
	}
	for _, shown := range []string{"spec.pin: Invalid value", `"name":"queue"`, `"count":3`, "rollback failed", `"object":{"pin":`} {
		if !strings.Contains(log.String(), shown) {
			t.Errorf("%q is not in the log:\n%s", shown, log.String())
		}
	}
}
