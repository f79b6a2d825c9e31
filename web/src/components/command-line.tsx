import { useTranslation } from 'react-i18next'
import { CopyButton } from './copy-button.tsx'

/** A command to copy. It wraps, so that it is complete on a small screen. */
export function CommandLine({ command }: { command: string }) {
  const { t } = useTranslation()
  return (
    <span className="refit-command">
      <code>{command}</code>
      <CopyButton text={command} label={t('copyCommand', { command })} />
    </span>
  )
}
