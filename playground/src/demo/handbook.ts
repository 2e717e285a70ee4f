import type { FileContent } from '../../../src/index.ts'

/** Page texts in the sent document. */
export const handbookPages: readonly string[] = [
  'Handbook of the Fram. The crew is thirteen, and the ship carries food for five years.',
  'The hull is round, so that pressing ice lifts the ship instead of crushing her.',
  'A windmill on the deck drives the dynamo. It lights the ship through the polar night.',
]

/** Returns a minimal PDF whose pages have one line each. */
export function handbook(): FileContent {
  return { type: 'file', mimeType: 'application/pdf', name: 'fram-handbook.pdf', citations: true, data: btoa(pdfOf(handbookPages)) }
}

function pdfOf(pages: readonly string[]): string {
  const numberOf = (page: number) => 4 + 2 * page
  const kids = pages.map((_, page) => `${numberOf(page)} 0 R`).join(' ')
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...pages.flatMap((text, page) => {
      const drawn = `BT /F 11 Tf 40 400 Td (${text}) Tj ET`
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 420]/Resources<</Font<</F 3 0 R>>>>/Contents ${numberOf(page) + 1} 0 R>>`,
        `<</Length ${drawn.length}>>\nstream\n${drawn}\nendstream`,
      ]
    }),
  ]
  let pdf = '%PDF-1.4\n'
  const places = objects.map((object, at) => {
    const place = pdf.length
    pdf += `${at + 1} 0 obj\n${object}\nendobj\n`
    return `${String(place).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`
  return `${pdf}${table}trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${pdf.length}\n%%EOF\n`
}
