use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

struct Plain;

impl Names for Plain {
    fn constructor(&self, constructor: u32) -> String {
        ["nil", "cons"].get(constructor as usize).map_or_else(|| format!("c{constructor}"), ToString::to_string)
    }
    fn element(&self, element: Element) -> String {
        format!("(as @{} U{})", element.number, element.sort)
    }
    fn array_sort(&self, _: ArraySort) -> String {
        "A".into()
    }
    fn regex(&self, _: Regex) -> String {
        "re".into()
    }
}

fn int(number: i64) -> Value {
    Value::Int(number.into())
}

fn bits(width: u32, number: u64) -> Value {
    Value::Bits(Bits::from_u64(width, number))
}

#[test]
fn a_value_is_small() {
    assert!(size_of::<Value>() <= 40, "{}", size_of::<Value>());
}

#[test]
fn stores_commute_and_a_default_stored_is_nothing() {
    let mut heap = Heap::new();
    let sort = heap.array_sort(Domain::Infinite).unwrap();
    let zero = heap.constant(sort, &int(0)).unwrap();
    let a = heap.store(zero, &int(5), &int(7)).unwrap();
    let ab = heap.store(a, &int(-9), &int(8)).unwrap();
    let b = heap.store(zero, &int(-9), &int(8)).unwrap();
    let ba = heap.store(b, &int(5), &int(7)).unwrap();
    assert_eq!(ab, ba);
    assert_eq!(heap.store(ab, &int(5), &int(0)), Ok(b));
    assert_eq!(heap.store(b, &int(-9), &int(0)), Ok(zero));
    assert_eq!(heap.select(ab, &int(5)), Ok(int(7)));
    assert_eq!(heap.select(ab, &int(6)), Ok(int(0)));
    let w = &mut Work::new(10_000);
    let text = heap.write(&Value::Array(ab), &Plain, w).unwrap();
    assert_eq!(text, "(store (store ((as const A) 0) 5 7) (- 9) 8)");
}

#[test]
fn a_finite_index_sort_has_no_default_beyond_its_places() {
    let w = &mut Work::new(100_000);
    let modes: Vec<Value> = Rounding::ALL.map(Value::Rounding).to_vec();
    let format = Format::new(2, 2).expect("it is one");
    let mut floats: Vec<Value> =
        (0..16).map(|n| Value::Float(Float::from_bits(format, &Bits::from_u64(4, n)))).collect();
    floats.sort();
    floats.dedup();
    assert_eq!(floats.len(), 15);
    let cases = [
        (Domain::Bool, vec![Value::Bool(false), Value::Bool(true)]),
        (Domain::Bits(3), (0..8).map(|n| bits(3, n)).collect()),
        (Domain::Rounding, modes),
        (Domain::Float(format), floats),
        (Domain::Listed((0..11).map(int).collect()), (0..11).map(int).collect()),
        (Domain::Listed(vec![int(4)]), vec![int(4)]),
        (Domain::Listed(vec![int(4), int(4), int(5)]), vec![int(5), int(4)]),
    ];
    for (domain, indices) in cases {
        let mut heap = Heap::new();
        let sort = heap.array_sort(domain.clone()).unwrap();
        let zero = heap.constant(sort, &int(0)).unwrap();
        let one = heap.constant(sort, &int(1)).unwrap();
        let mut all = zero;
        for (i, index) in indices.iter().enumerate() {
            assert_ne!(all, one, "{domain:?} {i}");
            all = heap.store(all, index, &int(1)).unwrap();
        }
        assert_eq!(all, one, "{domain:?}");
        assert_eq!(heap.entries(all, w), Ok((&int(1), vec![])));
        let back = indices.iter().rev().fold(all, |a, i| heap.store(a, i, &int(0)).unwrap());
        assert_eq!(back, zero);
        if indices.len() > 2 {
            let most = indices[1..].iter().fold(zero, |a, i| heap.store(a, i, &int(1)).unwrap());
            let few = heap.store(one, &indices[0], &int(0)).unwrap();
            assert_eq!(most, few);
            assert_eq!(heap.entries(most, w), Ok((&int(1), vec![(indices[0].clone(), &int(0))])));
        }
    }
}

#[test]
fn an_index_of_another_sort_is_no_panic() {
    let mut heap = Heap::new();
    for domain in [Domain::Bool, Domain::Bits(3), Domain::Rounding, Domain::Float(Format::HALF), Domain::Listed(vec![])]
    {
        let sort = heap.array_sort(domain).unwrap();
        let array = heap.constant(sort, &int(0)).unwrap();
        assert_eq!(heap.select(array, &int(3)), Err(NoValue::Unspecified));
        assert_eq!(heap.store(array, &bits(9, 300), &int(3)), Err(NoValue::Unspecified));
        assert!(heap.entries(array, &mut Work::new(100)).is_ok());
    }
}

#[test]
fn nested_arrays_and_the_widest_indices() {
    let mut heap = Heap::new();
    let w = &mut Work::new(10_000);
    let inner = heap.array_sort(Domain::Bits(64)).unwrap();
    let outer = heap.array_sort(Domain::Infinite).unwrap();
    let zero = heap.constant(inner, &Value::Bool(false)).unwrap();
    let one = heap.store(zero, &bits(64, u64::MAX), &Value::Bool(true)).unwrap();
    assert_eq!(heap.entries(one, w).unwrap().1, vec![(bits(64, u64::MAX), &Value::Bool(true))]);
    let array = heap.constant(outer, &Value::Array(zero)).unwrap();
    let array = heap.store(array, &Value::Array(one), &Value::Array(one)).unwrap();
    assert_eq!(heap.select(array, &Value::Array(one)), Ok(Value::Array(one)));
    let again = heap.store(zero, &bits(64, u64::MAX), &Value::Bool(true)).unwrap();
    assert_eq!(heap.select(array, &Value::Array(again)), Ok(Value::Array(one)));
    for width in 30..34 {
        let sort = heap.array_sort(Domain::Bits(width)).unwrap();
        let zero = heap.constant(sort, &int(0)).unwrap();
        let stored = heap.store(zero, &Value::Bits(Bits::ones(width)), &int(1)).unwrap();
        assert_eq!(heap.entries(stored, w).unwrap(), (&int(0), vec![(Value::Bits(Bits::ones(width)), &int(1))]));
    }
    let wide = heap.array_sort(Domain::Bits(65)).unwrap();
    let zero = heap.constant(wide, &int(0)).unwrap();
    let stored = heap.store(zero, &bits(65, 1), &int(1)).unwrap();
    assert_eq!(heap.select(stored, &bits(65, 1)), Ok(int(1)));
    assert_eq!(heap.select(stored, &bits(65, 2)), Ok(int(0)));
}

#[test]
fn datatypes_as_deep_as_memory_allows() {
    let mut heap = Heap::new();
    let nil = heap.data(0, &[]).unwrap();
    let mut lists = [nil.clone(), nil];
    for i in 0..200_000 {
        for list in &mut lists {
            *list = heap.data(1, &[int(i % 3), list.clone()]).unwrap();
        }
    }
    assert_eq!(lists[0], lists[1]);
    let text = heap.write(&lists[0], &Plain, &mut Work::new(1 << 24)).unwrap();
    assert!(text.starts_with("(cons 1 (cons 0 (cons 2 "));
    assert!(text.contains(" nil)))") && text.ends_with(")))"));
    assert_eq!(heap.write(&lists[0], &Plain, &mut Work::new(1000)), Err(NoValue::GaveUp));
    let Value::Data(data) = lists[0] else { panic!("it is one") };
    assert_eq!(heap.constructor(data), 1);
    assert_eq!(heap.argument(data, 0), Some(&int(1)));
    assert_eq!(heap.argument(data, 2), None);
}

#[test]
fn values_are_written_as_terms() {
    let heap = Heap::new();
    let element = Value::Element(Element { sort: 2, number: 3 });
    let values = [int(-3), Value::Bool(true), bits(5, 3), element, Value::Real(Real::ONE)];
    let shown = values.map(|v| heap.write(&v, &Plain, &mut Work::new(100)).unwrap());
    assert_eq!(shown, ["(- 3)", "true", "#b00011", "(as @3 U2)", "1.0"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn arrays_are_functions(
        domain in 0..4usize,
        stores in prop::collection::vec((0..11u64, 0..3i64), 0..60),
        others in prop::collection::vec((0..11u64, 0..3i64), 0..60),
        defaults in (0..3i64, 0..3i64),
    ) {
        let (size, domain) = [
            (8, Domain::Bits(3)),
            (11, Domain::Listed((0..11).map(int).collect())),
            (5, Domain::Listed((0..5).map(int).collect())),
            (11, Domain::Infinite),
        ][domain].clone();
        let mut heap = Heap::new();
        let index = |n: u64| if matches!(domain, Domain::Bits(_)) { bits(3, n % size) } else { int((n % size) as i64) };
        let sort = heap.array_sort(domain.clone()).unwrap();
        let mut made = Vec::new();
        for (default, stores) in [(defaults.0, &stores), (defaults.1, &others)] {
            let mut array = heap.constant(sort, &int(default)).unwrap();
            let mut map = BTreeMap::new();
            for (place, value) in stores {
                array = heap.store(array, &index(*place), &int(*value)).unwrap();
                map.insert(place % size, *value);
            }
            let all: Vec<i64> = (0..size).map(|n| map.get(&n).copied().unwrap_or(default)).collect();
            for (n, value) in all.iter().enumerate() {
                prop_assert_eq!(heap.select(array, &index(n as u64)), Ok(int(*value)));
            }
            // What the entries say is the same array again.
            let (common, entries) = heap.entries(array, &mut Work::new(10_000)).unwrap();
            let common = common.clone();
            let entries: Vec<(Value, Value)> = entries.into_iter().map(|(i, v)| (i, v.clone())).collect();
            prop_assert!(entries.iter().all(|(_, v)| *v != common));
            let mut again = heap.constant(sort, &common).unwrap();
            for (place, value) in &entries {
                again = heap.store(again, place, value).unwrap();
            }
            prop_assert_eq!(again, array);
            made.push((array, all, default));
        }
        let same = made[0].1 == made[1].1 && (domain != Domain::Infinite || made[0].2 == made[1].2);
        prop_assert_eq!(made[0].0 == made[1].0, same);
    }
}
