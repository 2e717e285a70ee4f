/** A picture of a message. Only what shows itself and nothing else: an SVG is a document. */
export function Picture({ data, mimeType, alt }: { data: string; mimeType: string; alt: string }) {
  const type = /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType) ? mimeType : 'image/png'
  return <img class="image" alt={alt} src={`data:${type};base64,${data}`} />
}
