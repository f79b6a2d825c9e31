/** The steps of the wizard, in order. */
export const steps = ['welcome', 'configuration', 'preflight', 'plan'] as const
export type Step = (typeof steps)[number]

/** The address of a step. The id of the check is in it, so that the address can be opened anywhere. */
export function stepPath(step: Step, check = ''): string {
  const query = check === '' ? '' : `?check=${encodeURIComponent(check)}`
  return `/upgrade/${step}${query}`
}
