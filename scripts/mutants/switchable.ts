import type { Mutant } from './find-mutants.ts'

/**
 * The source of a file with all its mutants in it, each behind a question to `globalThis.phiMutants`; without that, the file does
 * what it always did.
 */
export function switchable(file: string, source: string, mutants: readonly Mutant[]): string {
  // Outermost first, as `findMutants` gives them; those of one place side by side.
  const places: Mutant[][] = []
  for (const mutant of mutants) {
    const last = places.at(-1)?.[0]
    if (last !== undefined && last.start === mutant.start && last.end === mutant.end && last.form === mutant.form)
      places.at(-1)?.push(mutant)
    else places.push([mutant])
  }
  let next = 0
  const header = `const __mutant = globalThis.phiMutants?.of(${JSON.stringify(file)}) ?? (() => false); `
  return header + render(0, source.length)

  /** The text from `start` to `end`, with the places in it that come next. */
  function render(start: number, end: number): string {
    let text = ''
    let at = start
    for (let place = places[next]; place?.[0] !== undefined && place[0].end <= end; place = places[next]) {
      next += 1
      text += source.slice(at, place[0].start) + renderPlace(place)
      at = place[0].end
    }
    return text + source.slice(at, end)
  }

  function renderPlace(place: readonly Mutant[]): string {
    const [{ form, start, end }] = place as [Mutant]
    const inner = render(start, end)
    const questions = place.map(({ index }) => `__mutant(${index})`)
    if (form === 'statement') return `{ if (!${questions[0]}) { ${inner} } }`
    if (form === 'property') return `...(${questions[0]} ? {} : { ${inner} })`
    if (form === 'element') return `...(${questions[0]} ? [] : [${inner}])`
    if (form === 'member') return `[${questions[0]} ? ${memberName(place[0]?.replacement)} : ${memberName(inner)}]`
    return `(${place.map(({ replacement }, index) => `${questions[index]} ? (${replacement}) : `).join('')}(${inner}))`
  }
}

function memberName(text = ''): string {
  return JSON.stringify(text.slice(text.lastIndexOf('.') + 1).trim())
}
