import { Label, Radio } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { Hop, Offer } from './hops.ts'

interface ReleaseChoiceProps {
  offers: Offer[]
  chosen: string
  choose: (release: string) => void
}

/** The ClusterReleases of the cluster, of which one is the target. */
export function ReleaseChoice({ offers, chosen, choose }: ReleaseChoiceProps) {
  const { t } = useTranslation()
  return (
    <div role="radiogroup" aria-label={t('welcome.target')} className="refit-stack">
      {offers.map((offer) => {
        const { release, relation } = offer
        const refused = relation === 'older' || release.problem !== undefined
        return (
          <Radio
            key={release.name} id={`release-${release.name}`} name="release" value={release.name} isChecked={chosen === release.name}
            isDisabled={refused} onChange={() => choose(release.name)}
            label={<><b>{release.kubernetes || t('unknown')}</b> <span className="refit-muted">{release.name}</span></>}
            description={<Description offer={offer} />}
          />
        )
      })}
    </div>
  )
}

function Description({ offer: { release, relation, hops } }: { offer: Offer }) {
  const { t } = useTranslation()
  return (
    <span className="refit-release-facts">
      {release.problem && <Label status="danger" isCompact>{release.problem}</Label>}
      {relation === 'same' && <span>{t('welcome.same')}</span>}
      {relation === 'partly' && <span>{t('welcome.partly')}</span>}
      {relation === 'older' && <span>{t('welcome.older')}</span>}
      {relation === 'newer' && hops.length > 1 && <Hops hops={hops} />}
      {release.components && release.components.length > 0 && (
        <span>{t('welcome.components', { list: release.components.map(({ name, version }) => `${name} ${version}`).join(', ') })}</span>
      )}
      {release.rejectedHosts > 0 && <Label status="danger" isCompact>{t('cluster.rejected', { nodes: t('node', { count: release.rejectedHosts }) })}</Label>}
      {release.keyID && <span>{t('welcome.key', { key: release.keyID })}</span>}
    </span>
  )
}

function Hops({ hops }: { hops: Hop[] }) {
  const { t } = useTranslation()
  const missing = hops.filter((hop) => hop.missing)
  return (
    <>
      <span>{t('welcome.hops', { count: hops.length, versions: hops.map(({ version }) => version).join(', ') })}</span>
      {missing.length > 0 && (
        <Label status="warning" isCompact>{t('welcome.hopMissing', { versions: missing.map(({ version }) => version).join(', ') })}</Label>
      )}
    </>
  )
}
