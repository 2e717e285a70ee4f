import { ConfigError, errorText } from '../contract/errors.ts'
import type { JsonSchema } from '../contract/json.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction, required } from '../contract/shape/shape.ts'
import type { SchemaValidator } from '../types/standard-schema.ts'
import { type AjvError, readErrors } from './ajv-issues.ts'
import { enforceableSchema } from './enforceable-schema.ts'
import { resultOf } from './format-issues.ts'
import { formatChecks } from './formats.ts'
import { linearPattern, maxCheckSteps } from './linear-pattern.ts'

/** The class `Ajv2020` of ajv 8. */
export type AjvClass = new (options: object) => Ajv

interface Ajv {
  compile(schema: JsonSchema): AjvCheck
  removeSchema(schema: JsonSchema): unknown
}

interface AjvCheck {
  (value: unknown): unknown
  errors?: readonly AjvError[] | null | undefined
}

/**
 * Creates a `SchemaValidator` on ajv 8. The validator compiles more slowly than the default validator, but validates faster.
 *
 * **Contract**
 * - Accepts the same schemas as the default validator, except for schemas that declare a property `__proto__`, which ajv cannot see: these
 *   throw `ConfigError` `unsupportedSchema`.
 * - `compile` throws on platforms that forbid code generation (Workers, strict content security policies). Use the default validator on
 *   those platforms.
 *
 * Source: docs/concepts/tools.md
 *
 * @example
 * ```ts
 * import { Ajv2020 } from 'ajv/dist/2020.js'
 *
 * const agent = new Agent({ model, tools, schemaValidator: ajvValidator(Ajv2020) })
 * ```
 */
export function ajvValidator(Ajv2020: AjvClass): SchemaValidator {
  checkOptions(Ajv2020, required(aFunction), 'Ajv2020')
  // The schema is already checked, so ajv's strict mode and meta-schema are not needed.
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    ownProperties: true,
    validateSchema: false,
    formats: { ...formatChecks },
    // Required by ajv for code that is written to a file, which is not done here.
    code: { regExp: Object.assign(boundedPattern, { code: 'boundedPattern' }) },
  })
  return {
    compile(schema: JsonSchema) {
      const root = enforceableSchema(schema)
      if (JSON.stringify(root).includes('"__proto__":')) {
        throw new ConfigError(
          'unsupportedSchema',
          'ajv cannot enforce a property named "__proto__". Rename it, or use the default validator.',
        )
      }
      const validate = compileWith(ajv, root)
      return (value) => resultOf(value, () => (validate(value) ? undefined : readErrors(validate.errors ?? [], value)))
    },
  }
}

/** Replaces the language's regular expression engine, which backtracks. */
function boundedPattern(source: string): { test(text: string): boolean; toString(): string } {
  const pattern = linearPattern(source)
  return {
    // Ajv identifies patterns by their text and would confuse two patterns with the same text.
    toString: () => `/${source}/u`,
    test(text) {
      // Ajv counts no steps, so each pattern gets the full limit.
      let left = maxCheckSteps
      return pattern.occursIn(text, (steps) => {
        left -= steps
        if (left < 0) throw new RangeError('Validating the value takes too long.')
      })
    },
  }
}

function compileWith(ajv: Ajv, root: JsonSchema): AjvCheck {
  try {
    return ajv.compile(root)
  } catch (cause) {
    const reason = errorText(cause)
    throw new ConfigError('unsupportedSchema', `ajv cannot compile this schema: ${reason}`, { cause })
  } finally {
    // Remove the schema, because ajv otherwise keeps every schema it has seen.
    ajv.removeSchema(root)
  }
}
