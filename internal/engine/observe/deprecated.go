package observe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	deprecatedMetric = "apiserver_requested_deprecated_apis"

	// metricsTimeout is for all metrics of a server, which may have tens of megabytes.
	metricsTimeout = 30 * time.Second
	// maxLine is the maximum length of a parsed line. Longer lines are other metrics.
	maxLine = 64 << 10
)

// getDeprecated returns the requests for deprecated APIs since the server started.
func getDeprecated(ctx context.Context, w route) ([]cluster.DeprecatedRequest, error) {
	ctx, cancel := context.WithTimeout(ctx, metricsTimeout)
	defer cancel()
	response, err := w.open(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
		if err != nil {
			return nil, requestFailed(w.request, err)
		}
		return nil, w.statusError(response.StatusCode, body)
	}
	found, err := scanDeprecated(response.Body)
	return found, requestFailed(w.request, err)
}

// scanDeprecated finds the metric line by line, without keeping the others.
func scanDeprecated(metrics io.Reader) ([]cluster.DeprecatedRequest, error) {
	var found []cluster.DeprecatedRequest
	lines := bufio.NewReaderSize(metrics, maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		if rest, ok := strings.CutPrefix(string(line[:min(len(line), len(deprecatedMetric)+1)]), deprecatedMetric+"{"); ok && rest == "" {
			request, used, err := parseDeprecated(strings.TrimSpace(string(line)))
			if err != nil {
				return nil, err
			}
			if used {
				found = append(found, request)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return found, nil
		case errors.Is(err, bufio.ErrBufferFull): // the rest of a line of another metric
		case err != nil:
			return nil, fmt.Errorf("cannot read metrics: %w", err)
		}
	}
}

// parseDeprecated parses one line: NAME{group="policy",removed_release="1.25",…} 1
func parseDeprecated(line string) (request cluster.DeprecatedRequest, used bool, err error) {
	fields := map[string]*string{
		"group": &request.Group, "version": &request.Version, "resource": &request.Resource, "subresource": &request.Subresource,
		"removed_release": &request.RemovedRelease,
	}
	rest := strings.TrimPrefix(line, deprecatedMetric+"{")
	for !strings.HasPrefix(rest, "}") {
		name, after, ok := strings.Cut(rest, "=")
		quoted, quoteErr := strconv.QuotedPrefix(after)
		if !ok || quoteErr != nil {
			return request, false, fmt.Errorf("cannot parse the metric %q", line)
		}
		if field := fields[name]; field != nil {
			if *field, err = strconv.Unquote(quoted); err != nil {
				return request, false, fmt.Errorf("cannot parse the metric %q: %w", line, err)
			}
		}
		rest = strings.TrimPrefix(after[len(quoted):], ",")
	}
	// A timestamp may follow.
	value, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(rest, "}")), " ")
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return request, false, fmt.Errorf("the metric %q has no value: %w", line, err)
	}
	return request, number >= 1, nil
}
