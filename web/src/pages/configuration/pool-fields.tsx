import { Button, Checkbox, HelperText, HelperTextItem } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import { defaultPool, type PoolDraft } from '../../wizard/draft.ts'
import { fieldID, useFieldError } from '../../wizard/field-errors.ts'
import { SelectField, TextField } from './fields.tsx'

interface PoolFieldsProps {
  index: number
  pool: PoolDraft
  /** Whether this is the only pool: then it has all workers. */
  only: boolean
  change: (change: Partial<PoolDraft>) => void
  remove: () => void
}

/** The policy for a group of workers. */
export function PoolFields({ index, pool, only, change, remove }: PoolFieldsProps) {
  const { t } = useTranslation()
  const at = (path: string) => `/pools/${index}${path}`
  const error = useFieldError(at(''))
  const named = pool.name !== defaultPool
  const title = named ? t('configuration.pool', { name: pool.name }) : only ? t('configuration.allWorkers') : t('configuration.otherWorkers')
  return (
    <fieldset className="refit-pool" id={fieldID(at(''))} tabIndex={-1}>
      <legend><b>{title}</b></legend>
      {error && <HelperText><HelperTextItem variant="error">{error}</HelperTextItem></HelperText>}
      {named && (
        <div className="refit-fields">
          <TextField pointer={at('/name')} label={t('configuration.name')} value={pool.name} required change={(name) => change({ name })} />
          <TextField
            pointer={at('/nodeSelector')} label={t('configuration.labels')} help={t('configuration.labelsHelp')} value={pool.labels} required
            change={(labels) => change({ labels })}
          />
        </div>
      )}
      <div className="refit-fields">
        <TextField
          pointer={at('/maxUnavailable')} label={t('configuration.maxUnavailable')} help={t('configuration.maxUnavailableHelp')}
          value={pool.maxUnavailable} change={(maxUnavailable) => change({ maxUnavailable })}
        />
        <SelectField
          pointer={at('/drain/when')} label={t('configuration.when')} value={pool.when} change={(when) => change({ when })}
          options={[
            { value: 'MinorReleases', label: t('configuration.MinorReleases'), help: t('configuration.MinorReleasesHelp') },
            { value: 'AllReleases', label: t('configuration.AllReleases'), help: t('configuration.AllReleasesHelp') },
          ]}
        />
        <TextField
          pointer={at('/drain/timeout')} label={t('configuration.timeout')} help={t('configuration.timeoutHelp')} value={pool.timeout}
          change={(timeout) => change({ timeout })}
        />
        <SelectField
          pointer={at('/drain/onBlocked')} label={t('configuration.onBlocked')} value={pool.onBlocked} change={(onBlocked) => change({ onBlocked })}
          options={(['Wait', 'Skip', 'Fail', 'Delete'] as const).map((value) => ({
            value, label: t(`configuration.blocked.${value}`), help: t(`configuration.blockedHelp.${value}`),
          }))}
        />
      </div>
      <Checkbox
        id={fieldID(at('/canary'))} label={t('configuration.canary')} description={t('configuration.canaryHelp')} isChecked={pool.canary}
        onChange={(_, canary) => change({ canary })}
      />
      {pool.canary && (
        <div className="refit-fields">
          <TextField pointer={at('/canary/nodes')} label={t('configuration.canaryNodes')} value={pool.canaryNodes} change={(canaryNodes) => change({ canaryNodes })} />
          <TextField pointer={at('/canary/soak')} label={t('configuration.soak')} help={t('configuration.soakHelp')} value={pool.soak} change={(soak) => change({ soak })} />
        </div>
      )}
      {named && <div><Button variant="link" isInline onClick={remove}>{t('configuration.removePool', { name: pool.name })}</Button></div>}
    </fieldset>
  )
}
