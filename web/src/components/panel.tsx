import { Card, CardBody, CardHeader, CardTitle } from '@patternfly/react-core'
import type { ReactNode } from 'react'
import type { Observed } from '../api/documents.ts'
import { AgeLabel } from './age-label.tsx'

interface PanelProps {
  title: string
  id: string
  /** The answer that the panel shows; its age follows the title. */
  of?: Observed | undefined
  actions?: ReactNode
  children: ReactNode
}

/** A titled part of a page. */
export function Panel({ title, id, of, actions, children }: PanelProps) {
  return (
    <Card component="section" isCompact aria-labelledby={id} className="refit-panel">
      <CardHeader {...(actions && { actions: { actions, hasNoOffset: true } })}>
        <CardTitle component="h2" id={id}>
          {title} {of && <AgeLabel of={of} quiet />}
        </CardTitle>
      </CardHeader>
      <CardBody>{children}</CardBody>
    </Card>
  )
}
