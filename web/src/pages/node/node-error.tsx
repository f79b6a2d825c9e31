import { useTranslation } from 'react-i18next'
import type { ExplainError, NodeAnswer } from '../../api/documents.ts'
import { Panel } from '../../components/panel.tsx'
import { Remedy } from '../../components/remedy.tsx'
import { timeOfDay } from '../../format/moment.ts'

/** Why a node failed, with the end of the log of what failed. */
export function NodeError({ error, of }: { error: ExplainError; of: NodeAnswer }) {
  const { t } = useTranslation()
  const log = error.logTail?.trimEnd()
  return (
    <Panel id="error" title={t('nodePage.error')} of={of}>
      <p>{error.message}</p>
      <p className="refit-muted">{t('nodePage.errorFacts', { reason: error.reason, class: error.class, time: timeOfDay(error.at) })}</p>
      {error.remedy !== of.explanation.remedy && <Remedy remedy={error.remedy} />}
      {log && (
        <>
          <h3 id="log" className="refit-subtitle">{t('nodePage.log')}</h3>
          <pre className="refit-log" tabIndex={0} role="region" aria-labelledby="log">{log}</pre>
        </>
      )}
    </Panel>
  )
}
