/**
 * What option objects of this package are checked with, for adapters: a table says of each option what it must be, `checkOptions` names the one
 * that is not.
 *
 * ```ts
 * const table: OptionTable<MyOptions> = { name: required(aText), timeoutMs: aPositiveNumber }
 * checkOptions(given, options(table))
 * ```
 *
 * @module
 */
export { checkOptions } from './read.ts'
export {
  aFlag,
  aFunction,
  aNumber,
  aNumberFromZero,
  anObject,
  anything,
  aPositiveNumber,
  aSchema,
  aSignal,
  aText,
  either,
  json,
  kind,
  listOf,
  type OptionTable,
  oneOf,
  options,
  recordOf,
  required,
  type Shape,
  texts,
  wholeFrom,
  withMethods,
} from './shape.ts'
