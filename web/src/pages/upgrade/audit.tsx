import { Alert } from '@patternfly/react-core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { client, dataOf } from '../../api/client.ts'
import { Panel } from '../../components/panel.tsx'
import { Cell, Column, Columns, Table, TableRow, TableRows } from '../../components/table.tsx'
import { keys } from '../../data/keys.ts'
import { moment } from '../../format/moment.ts'
import en from '../../i18n/en.json'
import { meQuery } from '../../session/me.ts'

const limit = 1000
/** The result of a request that was accepted: its status. */
const accepted = '200'

/** Who changed an operation through this server. Only those who may approve plans can read it. */
export function Audit({ operation }: { operation: string }) {
  const { t } = useTranslation()
  const { data: me } = useQuery(meQuery)
  const allowed = me?.permissions.some(({ operation: route, allowed: may }) => route === 'ListAudit' && may) ?? false
  const { data } = useQuery({
    queryKey: keys.audit, enabled: allowed, staleTime: 0,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1alpha1/audit', { params: { query: { limit } }, signal })),
  })
  if (!allowed || !data) return null
  const actionName = (action: string) => action in en.audit.actions ? t(`audit.actions.${action as keyof typeof en.audit.actions}`) : action
  const entries = data.entries.filter(({ object }) => object === operation)
  return (
    <Panel id="audit" title={t('audit.title')}>
      {!data.verified && <Alert isInline variant="danger" title={t('audit.notVerified')} component="h3">{data.problem}</Alert>}
      {entries.length === 0 ? <p className="refit-muted">{t('audit.none')}</p> : (
        <Table stackBelow="md" label={t('audit.title')}>
          <Columns><Column>{t('audit.time')}</Column><Column>{t('audit.user')}</Column><Column>{t('audit.action')}</Column><Column>{t('audit.result')}</Column></Columns>
          <TableRows>
            {entries.map(({ sequence, time, user, action, result, detail }) => (
              <TableRow key={sequence}>
                <Cell label={t('audit.time')}>{moment(time)}</Cell>
                <Cell label={t('audit.user')} wrap="anywhere">{user ?? t('unknown')}</Cell>
                <Cell label={t('audit.action')} wrap="anywhere">{actionName(action)}{detail && <div className="refit-muted">{detail}</div>}</Cell>
                <Cell label={t('audit.result')} wrap="anywhere">{result === accepted ? t('audit.accepted') : t('audit.refused', { result })}</Cell>
              </TableRow>
            ))}
          </TableRows>
        </Table>
      )}
    </Panel>
  )
}
