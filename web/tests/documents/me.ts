import type { Me } from '../../src/api/documents.ts'

const reads = ['CreateCheck', 'CreateSupportBundle']
const writes = ['StartOperation', 'ChangeOperation', 'PutRelease', 'PauseOperation', 'ResumeOperation', 'RetryOperation', 'AbortOperation']
const edits = ['PutConfig']
const approvals = ['ApproveOperation', 'ListAudit']

/** A user who may read, and may change upgrades or approve plans. */
export function meWith(operator: boolean, approver = operator): Me {
  const row = (missing: string, allowed: boolean) => (operation: string) => ({ operation, allowed, ...(!allowed && { missing }) })
  return {
    user: 'jane@example.org', method: 'session',
    permissions: [
      ...reads.map(row('', true)), ...writes.map(row('patch clusterupgrades.refit.dev', operator)),
      ...edits.map(row('approve components.refit.dev', operator)),
      ...approvals.map(row('approve clusterupgrades.refit.dev', approver)),
    ],
  }
}
