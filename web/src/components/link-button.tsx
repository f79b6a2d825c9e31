import type { ReactNode } from 'react'
import { Link } from 'react-router'

interface LinkButtonProps {
  to: string
  variant?: 'primary' | 'secondary'
  children: ReactNode
}

/** A link that looks like a button: the way to another page. */
export function LinkButton({ to, variant = 'secondary', children }: LinkButtonProps) {
  return <Link to={to} className={`pf-v6-c-button pf-m-${variant}`}><span className="pf-v6-c-button__text">{children}</span></Link>
}
