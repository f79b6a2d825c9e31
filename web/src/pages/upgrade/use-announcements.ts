import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { Operation } from '../../api/documents.ts'
import { announce } from '../../components/announcer.tsx'
import { usePhase } from '../../components/phase.ts'

/** Announces what changes: the phase, and new failures. Not what the page shows when it opens. */
export function useAnnouncements(operation: Operation) {
  const { t } = useTranslation()
  const phase = usePhase()
  const before = useRef<Operation>(undefined)
  useEffect(() => {
    const last = before.current
    before.current = operation
    if (last?.name !== operation.name) return
    const known = new Set(last.failures.map((failure) => failure.node ?? failure.component))
    const failed = operation.failures.map((failure) => failure.node ?? failure.component ?? '').filter((name) => !known.has(name))
    const texts = failed.map((name) => t('upgrade.announceFailed', { name }))
    if (last.phase !== operation.phase) {
      texts.unshift(t('upgrade.announcePhase', { operation: operation.name, phase: phase(operation.phase) }))
    }
    if (texts.length > 0) announce(texts.join('. '))
  }, [operation, phase, t])
}
