import type { AuditList } from '../../src/api/documents.ts'
import { planHash } from './operation.ts'
import { ago } from './time.ts'

export function audit(): AuditList {
  const entry = { requestId: 'r-1', user: 'jane@example.org', remote: '10.0.0.7', object: 'to-v1-36-3', hash: '0' }
  return {
    verified: true,
    entries: [
      { ...entry, sequence: 10, time: ago(40), action: 'AbortOperation', result: '200' },
      { ...entry, sequence: 9, time: ago(70), user: 'joe@example.org', action: 'RetryOperation', result: '403 forbidden', detail: 'joe@example.org may not patch clusterupgrades.refit.dev.' },
      { ...entry, sequence: 8, time: ago(360), action: 'ApproveOperation', result: '200', detail: planHash },
      { ...entry, sequence: 7, time: ago(380), action: 'StartOperation', result: '200', detail: planHash },
      { ...entry, sequence: 6, time: ago(400), object: 'to-v1-35-4', action: 'PauseOperation', result: '200' },
    ],
  }
}

/** Of an upgrade that nobody interrupted. */
export function quietAudit(): AuditList {
  const list = audit()
  return { ...list, entries: list.entries.filter(({ action }) => action === 'StartOperation' || action === 'ApproveOperation') }
}
