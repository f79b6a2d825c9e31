package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/api"
)

// ListNodes answers with a page of nodes and their state in the active or last upgrade.
func (s *Server) ListNodes(_ context.Context, request api.ListNodesRequestObject) (api.ListNodesResponseObject, error) {
	out, err := s.nodes(api.ListOperationNodesParams(request.Params), func(c *operations.Copy) (*refitv1alpha1.ClusterUpgrade, error) {
		return operations.ActiveOrLast(c.Sorted()), nil
	})
	return api.ListNodes200JSONResponse(out), err
}

// ListOperationNodes answers with a page of nodes and their state in an upgrade.
func (s *Server) ListOperationNodes(_ context.Context, request api.ListOperationNodesRequestObject) (api.ListOperationNodesResponseObject, error) {
	out, err := s.nodes(request.Params, func(c *operations.Copy) (*refitv1alpha1.ClusterUpgrade, error) { return find(c, request.Name) })
	return api.ListOperationNodes200JSONResponse(out), err
}

// nodes returns a page of nodes and their state in the chosen upgrade, which may be nil.
func (s *Server) nodes(p api.ListOperationNodesParams, choose func(*operations.Copy) (*refitv1alpha1.ClusterUpgrade, error)) (out api.NodePage, err error) {
	if p.Limit == 0 {
		p.Limit = defaultLimit
	}
	if p.Limit < 1 || p.Limit > maxLimit {
		return out, invalid("#/limit", fmt.Sprintf("must be between 1 and %d", maxLimit))
	}
	err = s.read(func(c *operations.Copy) error {
		u, err := choose(c)
		if err != nil {
			return err
		}
		rows := []cliv1alpha1.NodeRow{}
		for name := range c.Nodes {
			if !strings.Contains(name, p.Q) {
				continue
			}
			if row := s.documents.row(c, name, u); len(p.State) == 0 || slices.Contains(p.State, row.State) {
				rows = append(rows, row)
			}
		}
		out.Source, out.ObservedAt = observed(c)
		out.Operation, out.Total = operationName(u), len(rows)
		out.Nodes, out.Continue = pageOf(rows, p.Continue, p.Limit)
		return nil
	})
	return out, err
}
