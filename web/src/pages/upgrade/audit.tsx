import { Alert } from '@patternfly/react-core'
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { client, dataOf } from '../../api/client.ts'
import { Panel } from '../../components/panel.tsx'
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
        <Table variant="compact" gridBreakPoint="grid-md" aria-label={t('audit.title')}>
          <Thead><Tr><Th>{t('audit.time')}</Th><Th>{t('audit.user')}</Th><Th>{t('audit.action')}</Th><Th>{t('audit.result')}</Th></Tr></Thead>
          <Tbody>
            {entries.map(({ sequence, time, user, action, result, detail }) => (
              <Tr key={sequence}>
                <Td dataLabel={t('audit.time')}>{moment(time)}</Td>
                <Td dataLabel={t('audit.user')} modifier="breakWord">{user ?? t('unknown')}</Td>
                <Td dataLabel={t('audit.action')} modifier="breakWord">{actionName(action)}{detail && <div className="refit-muted">{detail}</div>}</Td>
                <Td dataLabel={t('audit.result')} modifier="breakWord">{result === accepted ? t('audit.accepted') : t('audit.refused', { result })}</Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
      )}
    </Panel>
  )
}
