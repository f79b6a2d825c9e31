import type { Config } from '../../src/api/documents.ts'

/** A form with an item of each type, and a group that a switch shows. */
export const form: NonNullable<Config['form']> = {
  groups: [
    {
      name: 'access', title: 'Access', description: 'How users reach the shop.',
      items: [
        { name: 'host', title: 'Host name', help: 'A DNS record must point to the ingress controller.', type: 'Text', required: true, pattern: '[a-z.]+' },
        { name: 'replicas', title: 'Replicas', type: 'Number', default: 2 },
        { name: 'size', title: 'Size', type: 'Choice', options: [{ value: 's', title: 'Small' }, { value: 'l', title: 'Large' }] },
        { name: 'tls', title: 'Use HTTPS', help: 'Certificates are issued by the internal CA.', type: 'Switch' },
      ],
    },
    { name: 'database', title: 'Database', when: 'values.tls', items: [{ name: 'password', title: 'Password of the database', type: 'Password', required: true }] },
  ],
}
