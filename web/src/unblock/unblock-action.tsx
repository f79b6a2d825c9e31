import { Alert } from '@patternfly/react-core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Change, NodeProgress } from '../api/documents.ts'
import { refusalOfWrite } from '../writes/refusal.ts'
import { useWriteSituation } from '../writes/use-write-situation.ts'
import { WriteButton } from '../writes/write-button.tsx'
import { UnblockDialog } from './unblock-dialog.tsx'

/** Offers what lets the drain of a node continue, and shows the consequence. */
export function UnblockAction({ operation, node }: { operation: string; node: NodeProgress }) {
  const { t } = useTranslation()
  const refusal = refusalOfWrite('ChangeOperation', useWriteSituation())
  const [open, setOpen] = useState(false)
  const [change, setChange] = useState<Change>()
  return (
    <>
      <div className="refit-row">
        <WriteButton variant="secondary" size="sm" refusal={refusal} busy={false} label={t('unblock.label', { node: node.node })} onClick={() => setOpen(true)}>
          {t('unblock.button')}
        </WriteButton>
      </div>
      {change && (
        <Alert isInline variant={change.changed ? 'success' : 'info'} title={t(change.changed ? 'unblock.changed' : 'actions.unchanged')} component="h3" role="status">
          {change.message}
        </Alert>
      )}
      {open && (
        <UnblockDialog
          operation={operation} node={node} close={() => setOpen(false)}
          changed={(accepted) => {
            setOpen(false)
            setChange(accepted)
          }}
        />
      )}
    </>
  )
}
