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

	// metricsPatience is for all metrics of a server, of which a busy one has tens of megabytes.
	metricsPatience = 30 * time.Second
	// longestLine of metrics that is looked at. Longer ones are other metrics.
	longestLine = 64 << 10
)

// askDeprecated asks a server for the requests that it had, since it started, for APIs that a release removes.
func askDeprecated(ctx context.Context, w way) ([]cluster.DeprecatedRequest, error) {
	ctx, cancel := context.WithTimeout(ctx, metricsPatience)
	defer cancel()
	response, err := w.open(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
		if err != nil {
			return nil, asked(w.ask, err)
		}
		return nil, w.refused(response.StatusCode, body)
	}
	found, err := scanDeprecated(response.Body)
	return found, asked(w.ask, err)
}

// scanDeprecated finds the metric among all others, line by line, without holding them.
func scanDeprecated(metrics io.Reader) ([]cluster.DeprecatedRequest, error) {
	var found []cluster.DeprecatedRequest
	lines := bufio.NewReaderSize(metrics, longestLine)
	for {
		line, err := lines.ReadSlice('\n')
		if rest, ok := strings.CutPrefix(string(line[:min(len(line), len(deprecatedMetric)+1)]), deprecatedMetric+"{"); ok && rest == "" {
			request, asked, err := parseDeprecated(strings.TrimSpace(string(line)))
			if err != nil {
				return nil, err
			}
			if asked {
				found = append(found, request)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return found, nil
		case errors.Is(err, bufio.ErrBufferFull): // the rest of a line that is too long to be ours
		case err != nil:
			return nil, fmt.Errorf("reading metrics: %w", err)
		}
	}
}

// parseDeprecated reads one line: NAME{group="policy",removed_release="1.25",…} 1
func parseDeprecated(line string) (request cluster.DeprecatedRequest, asked bool, err error) {
	fields := map[string]*string{
		"group": &request.Group, "version": &request.Version, "resource": &request.Resource, "subresource": &request.Subresource,
		"removed_release": &request.RemovedRelease,
	}
	rest := strings.TrimPrefix(line, deprecatedMetric+"{")
	for !strings.HasPrefix(rest, "}") {
		name, after, ok := strings.Cut(rest, "=")
		quoted, quoteErr := strconv.QuotedPrefix(after)
		if !ok || quoteErr != nil {
			return request, false, fmt.Errorf("the metric %q cannot be read", line)
		}
		if field := fields[name]; field != nil {
			if *field, err = strconv.Unquote(quoted); err != nil {
				return request, false, fmt.Errorf("the metric %q cannot be read: %w", line, err)
			}
		}
		rest = strings.TrimPrefix(after[len(quoted):], ",")
	}
	value, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(rest, "}")), " ") // a time may follow
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return request, false, fmt.Errorf("the metric %q has no number: %w", line, err)
	}
	return request, number >= 1, nil
}
