package operations_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

// No role of Refit has the permission: the credentials are also those of the agents.
func TestForbiddenCredentialsNameThePermission(t *testing.T) {
	forbidden := interceptor.NewClient(operationstest.NewClient(t), interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			return apierrors.NewForbidden(corev1.Resource("secrets"), key.Name, nil)
		},
	})
	cluster := &operations.Cluster{Client: forbidden, Name: "prod", Now: time.Now}
	_, err := cluster.BackupSecret(t.Context(), "offsite")
	if !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), "`kubectl create role offsite --namespace refit-backup --verb get --resource secrets --resource-name offsite;") {
		t.Errorf("got %v", err)
	}
}
