package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"

	kjson "sigs.k8s.io/json"

	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// bodies are the types of the bodies that must not have other fields: a misspelled maxUnavailable
// must not be ignored.
var bodies = map[string]func() any{
	"POST /api/v1alpha1/checks":                    func() any { return &api.ClusterUpgradeSpec{} },
	"POST /api/v1alpha1/operations":                func() any { return &api.OperationStart{} },
	"PUT /api/v1alpha1/config":                     func() any { return &api.ConfigAnswers{} },
	"POST /api/v1alpha1/config/render":             func() any { return &api.ConfigAnswers{} },
	"PATCH /api/v1alpha1/operations/{name}":        func() any { return &api.OperationPatch{} },
	"POST /api/v1alpha1/operations/{name}/approve": func() any { return &api.Approval{} },
}

// strictBodies rejects bodies with unknown or duplicate fields, and those of another type.
func strictBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, found := bodies[r.Pattern]
		if !found {
			next.ServeHTTP(w, r)
			return
		}
		content, err := io.ReadAll(r.Body) // protect limits its size
		if err == nil {
			err = decodeStrictly(content, body())
		}
		if err != nil {
			problem.Write(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(content))
		next.ServeHTTP(w, r)
	})
}

// quoted matches the path in an error such as `unknown field "pools[0].size"`.
var quoted = regexp.MustCompile(`^(unknown|duplicate) field "(.*)"$`)

func decodeStrictly(content []byte, into any) error {
	unknown, err := kjson.UnmarshalStrict(content, into)
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return invalidField(request.Pointer("#", wrong.Field), "must not be a "+wrong.Value)
	}
	if err != nil {
		return problem.Newf(http.StatusUnprocessableEntity, problem.Invalid, "The body of the request is not what the API describes: %s.", err).
			With("GET /openapi.yaml describes the API")
	}
	if len(unknown) > 0 {
		p := problem.New(http.StatusUnprocessableEntity, problem.Invalid, "The body of the request is invalid.")
		for _, err := range unknown {
			pointer, detail := "#", err.Error()
			if match := quoted.FindStringSubmatch(detail); match != nil {
				pointer, detail = request.Pointer("#", match[2]), "is "+match[1]
			}
			p = p.At(pointer, detail)
		}
		return p
	}
	return rejectNull(content, into)
}

// rejectNull rejects null in a patch, which would be ignored: in a JSON merge patch it removes.
func rejectNull(content []byte, into any) error {
	if _, is := into.(*api.OperationPatch); !is {
		return nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(content, &fields); err != nil {
		return invalidField("#", "must be an object")
	}
	for name, value := range fields {
		if string(value) == "null" {
			return invalidField("#/"+name, "must not be null; an empty list removes all")
		}
	}
	return nil
}
