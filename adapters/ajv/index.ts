import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { ConfigError, type JsonSchema } from '../../src/index.ts'
import { errorText, formatChecks, maxCheckSteps, resultOf } from '../../src/internal.ts'
import { enforceableSchema, linearPattern, type SchemaValidator } from '../../src/tools/index.ts'
import { readErrors } from './issues.ts'

/**
 * A `SchemaValidator` on ajv 8, for runtimes that allow code generation: slower to compile, faster to check than the default.
 *
 * **Contract**
 * - Takes and refuses the same schemas as the default validator, and one more refusal: ajv cannot see a property named `__proto__`, so a
 *   schema that declares one throws `ConfigError` `unsupportedSchema`.
 * - Where code generation is forbidden (Workers, strict content security policies) `compile` throws; use the default there.
 *
 * Source: docs/concepts/tools.md
 */
export function ajvValidator(): SchemaValidator {
  // The schema is checked before ajv sees it, so its own strictness and its meta-schema are not needed.
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    ownProperties: true,
    validateSchema: false,
    formats: { ...formatChecks },
    // For code that is written to a file, which this is not.
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

/** In place of the engine of the language, which backtracks. */
function boundedPattern(source: string): { test(text: string): boolean; toString(): string } {
  const pattern = linearPattern(source)
  return {
    // Ajv knows patterns by their text, and would take two for one.
    toString: () => `/${source}/u`,
    test(text) {
      // Ajv itself counts no steps, so each pattern may take as many.
      let left = maxCheckSteps
      return pattern.occursIn(text, (steps) => {
        left -= steps
        if (left < 0) throw new RangeError('The value takes too long to check.')
      })
    },
  }
}

function compileWith(ajv: Ajv2020, root: JsonSchema): ValidateFunction {
  try {
    return ajv.compile(root)
  } catch (cause) {
    const reason = errorText(cause)
    throw new ConfigError('unsupportedSchema', `ajv cannot compile this schema: ${reason}`, { cause })
  } finally {
    // Ajv would keep every schema it has ever seen.
    ajv.removeSchema(root)
  }
}
