import { Button } from '@patternfly/react-core'
import CheckIcon from '@patternfly/react-icons/dist/esm/icons/check-icon'
import CopyIcon from '@patternfly/react-icons/dist/esm/icons/copy-icon'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

const confirmationTime = 2000

/** Copies a text to the clipboard. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const { t } = useTranslation()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), confirmationTime)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true), () => setCopied(false))
  return (
    <Button
      variant="plain" size="sm" icon={copied ? <CheckIcon /> : <CopyIcon />} onClick={() => void copy()} aria-label={copied ? t('copied') : label}
    />
  )
}
