export default function NewSession() {
  return <p className="p-6">NewSession</p>;
}
