import { Button, type ButtonProps } from '@patternfly/react-core'
import { useId, type ReactNode } from 'react'
import type { Refusal } from './refusal.ts'
import { Refused } from './refused.tsx'

interface WriteButtonProps {
  refusal: Refusal | undefined
  busy: boolean
  /** Why nothing can be sent now, if that is no refusal of the server. */
  reason?: ReactNode
  variant?: ButtonProps['variant']
  size?: 'sm'
  label?: string
  /** The id of the form that the button submits, instead of onClick. */
  form?: string
  onClick?: () => void
  children: ReactNode
}

/** A button that writes. If it cannot, it stays reachable by keyboard and shows why. */
export function WriteButton({ refusal, busy, reason, variant = 'primary', size, label, form, onClick, children }: WriteButtonProps) {
  const id = useId()
  const why = refusal ? <Refused refusal={refusal} /> : reason
  const disabled = why !== undefined || busy
  return (
    <>
      <Button
        variant={variant} isAriaDisabled={disabled} isLoading={busy} onClick={() => { if (!disabled) onClick?.() }}
        {...(form && { type: 'submit', form })}
        {...(size && { size })} {...(label && { 'aria-label': label })} {...(why !== undefined && { 'aria-describedby': id })}
      >
        {children}
      </Button>
      {why !== undefined && <span id={id} className="refit-refusal">{why}</span>}
    </>
  )
}
