import { useTranslation } from 'react-i18next'
import { duration } from '../format/duration.ts'
import { differences, type Outline } from './outline.ts'

const shortestDifference = 30
const shownNames = 12

/** What is different in a plan that replaces another one. */
export function ChangesOfPlan({ before, after }: { before: Outline; after: Outline }) {
  const { t } = useTranslation()
  const { added, removed, seconds, target, releases, components } = differences(before, after)
  const names = (all: string[]) => all.length > shownNames ? `${all.slice(0, shownNames).join(', ')}, …` : all.join(', ')
  const changes = [
    added.length > 0 ? t('changed.added', { nodes: names(added) }) : '',
    removed.length > 0 ? t('changed.removed', { nodes: names(removed) }) : '',
    target ? t('changed.target', target) : '',
    releases ? t('changed.releases') : '',
    components ? t('changed.components') : '',
    Math.abs(seconds) >= shortestDifference ? t(seconds > 0 ? 'changed.longer' : 'changed.shorter', { time: duration(Math.abs(seconds) * 1000) }) : '',
  ].filter(Boolean)
  return <ul className="refit-tasks">{(changes.length > 0 ? changes : [t('changed.other')]).map((change) => <li key={change}>{change}</li>)}</ul>
}
