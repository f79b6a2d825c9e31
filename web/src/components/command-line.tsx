import { Button } from '@patternfly/react-core'
import CheckIcon from '@patternfly/react-icons/dist/esm/icons/check-icon'
import CopyIcon from '@patternfly/react-icons/dist/esm/icons/copy-icon'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

const confirmationTime = 2000

/** A command to copy. It wraps, so that it is complete on a small screen. */
export function CommandLine({ command }: { command: string }) {
  const { t } = useTranslation()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), confirmationTime)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => navigator.clipboard.writeText(command).then(() => setCopied(true), () => setCopied(false))
  return (
    <span className="refit-command">
      <code>{command}</code>
      <Button
        variant="plain" size="sm" icon={copied ? <CheckIcon /> : <CopyIcon />} onClick={() => void copy()}
        aria-label={copied ? t('copied') : t('copyCommand', { command })}
      />
    </span>
  )
}
