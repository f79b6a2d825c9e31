import type { ReactNode } from 'react'

interface DisclosureProps {
  title: string
  onOpen?: () => void
  children: ReactNode
}

/** A part that few users need, and which they open. */
export function Disclosure({ title, onOpen, children }: DisclosureProps) {
  return (
    <details className="refit-disclosure" onToggle={(event) => { if (event.currentTarget.open) onOpen?.() }}>
      <summary>{title}</summary>
      <div className="refit-stack">{children}</div>
    </details>
  )
}
