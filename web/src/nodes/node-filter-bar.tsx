import { Button, FormSelect, FormSelectOption, SearchInput } from '@patternfly/react-core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { NodeFilter } from '../data/keys.ts'
import { nodeStates, useNodeState } from './node-state.tsx'

/** Typing is sent once it pauses. */
const typingPause = 300

interface NodeFilterBarProps {
  filter: NodeFilter
  setFilter: (next: { states?: string[]; text?: string }) => void
}

export function NodeFilterBar({ filter, setFilter }: NodeFilterBarProps) {
  const { t } = useTranslation()
  const stateName = useNodeState()
  const [text, setText] = useState(filter.text)
  const [applied, setApplied] = useState(filter.text)
  if (filter.text !== applied) { // changed by a link or by the history, not by typing
    setApplied(filter.text)
    setText(filter.text)
  }
  useEffect(() => {
    if (text === applied) return
    const timer = setTimeout(() => {
      setApplied(text)
      setFilter({ text })
    }, typingPause)
    return () => clearTimeout(timer)
  })
  const clear = () => {
    setText('')
    setFilter({ text: '', states: [] })
  }
  return (
    <search className="refit-row refit-filter">
      <SearchInput
        aria-label={t('nodes.filterName')} placeholder={t('nodes.filterName')} value={text}
        onChange={(_, value) => setText(value)} onClear={() => setText('')}
      />
      <FormSelect
        aria-label={t('nodes.filterState')} value={filter.states[0] ?? ''} className="refit-state-select"
        onChange={(_, value) => setFilter({ states: value ? [value] : [] })}
      >
        <FormSelectOption value="" label={t('nodes.anyState')} />
        {nodeStates.map((state) => <FormSelectOption key={state} value={state} label={stateName(state)} />)}
      </FormSelect>
      {(filter.text !== '' || filter.states.length > 0) && <Button variant="link" isInline onClick={clear}>{t('nodes.clear')}</Button>}
    </search>
  )
}
