import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { ajvValidator } from '../../src/tools.ts'
import { schemaValidatorSuite } from '../../testing/schema/schema-validator-suite.ts'

schemaValidatorSuite({ describe, it, expect }, { name: 'ajv', create: () => ajvValidator(Ajv2020) })

describe('ajvValidator', () => {
  it('rejects a schema that declares __proto__', () => {
    const schema = { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') }
    expect(() => ajvValidator(Ajv2020).compile(schema)).toThrow('__proto__')
  })

  it.each([
    ['email', 'a@-b.c', false],
    ['email', `${'a'.repeat(65)}@b.c`, false],
    ['ipv6', '::ffff:1.2.3.4', true],
    ['ipv6', '1:2:3:4:5:6:7', false],
    ['ipv6', ':1', false],
    ['date-time', '2026-01-01 00:00:00Z', false],
    ['time', '12:00:00+24:00', false],
  ])('checks format %s against %j: %s', (format, value, valid) => {
    const check = ajvValidator(Ajv2020).compile({ format })
    expect(check(value).issues === undefined).toBe(valid)
  })
})
