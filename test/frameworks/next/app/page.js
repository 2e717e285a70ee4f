export default function Page() {
  return <p>Ask /api.</p>
}
