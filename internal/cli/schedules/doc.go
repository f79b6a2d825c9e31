// Package schedules has the texts of `refit schedule`, and the names of schedules for completion.
package schedules
