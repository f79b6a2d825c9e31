import { useTranslation } from 'react-i18next'
import { CommandLine } from './command-line.tsx'

/** What the user can do: a sentence, in which commands are in backquotes. Each can be copied. */
export function Remedy({ remedy }: { remedy: string | undefined }) {
  const { t } = useTranslation()
  if (!remedy) return null
  return (
    <p className="refit-remedy">
      <b>{t('remedy')}</b>{' '}
      {partsOf(remedy).map((part, i) => i % 2 === 1 ? <CommandLine key={i} command={part} /> : part)}
    </p>
  )
}

/**
 * The texts and the commands of a remedy in turn. A command has a button after it, so that
 * punctuation around it would stand alone, and begin a line on a narrow screen.
 */
function partsOf(remedy: string): string[] {
  const plain = remedy.replace(/\((`[^`]*`)\)/g, '$1')
  return plain.split('`').map((part, i) => i > 0 && i % 2 === 0 ? part.replace(/^[.,;]\s*/, ' ') : part)
}
