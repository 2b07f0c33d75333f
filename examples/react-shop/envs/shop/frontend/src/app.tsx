import { useShop } from "./use-shop.ts";

export function App() {
  const { products, orders, problem, order } = useShop();
  return (
    <main>
      <h1>Shop</h1>
      {problem !== null && <p role="alert">{problem}</p>}
      <ul className="products">
        {products.map(({ name, price }) => (
          <li key={name}>
            {name}, {price} €
            <button type="button" onClick={() => void order(name)}>
              Order {name}
            </button>
          </li>
        ))}
      </ul>
      <h2>Orders</h2>
      <ol>
        {orders.map(({ id, product, quantity, by }) => (
          <li key={id}>
            {quantity} × {product}
            {by !== null && `, for ${by}`}
          </li>
        ))}
      </ol>
    </main>
  );
}
